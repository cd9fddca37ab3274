export default function HealthScreen(_: Record<string, unknown>) {
  return null
}
