/** Joins class names; what is false falls out. */
export const cx = (...names: readonly (string | false | null | undefined)[]) => names.filter(Boolean).join(' ')
