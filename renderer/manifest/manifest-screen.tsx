export default function ManifestScreen(_: Record<string, unknown>) {
  return null
}
