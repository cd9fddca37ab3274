export default function SearchScreen(_: Record<string, unknown>) {
  return null
}
