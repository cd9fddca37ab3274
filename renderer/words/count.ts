const rules = new Intl.PluralRules('en')
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })

/** `1 line`, `12,400 lines`. */
export const count = (value: number, one: string, many: string) =>
  `${whole.format(value)} ${rules.select(value) === 'one' ? one : many}`
