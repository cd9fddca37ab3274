export default function RunScreen(_: Record<string, unknown>) {
  return null
}
