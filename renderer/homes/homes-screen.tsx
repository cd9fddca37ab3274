export default function HomesScreen(_: Record<string, unknown>) {
  return null
}
