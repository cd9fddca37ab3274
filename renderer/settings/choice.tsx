import { RadioGroup } from 'radix-ui'
import { useId } from 'react'

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly { readonly id: T; readonly label: string; readonly hint?: string }[]
  readonly onChange: (value: T) => void
}

/** One of a few, each with what it means. */
export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  const id = useId()
  return (
    <div className="mt-5">
      <h2 id={id} className="font-medium">
        {label}
      </h2>
      <RadioGroup.Root
        aria-labelledby={id}
        value={value}
        onValueChange={(next) => {
          const chosen = options.find((option) => option.id === next)
          if (chosen !== undefined) onChange(chosen.id)
        }}
        className="mt-1.5 space-y-1"
      >
        {options.map((option) => (
          <div key={option.id} className="flex items-start gap-2.5">
            <RadioGroup.Item
              id={`${id}${option.id}`}
              value={option.id}
              className="mt-1 flex size-4 shrink-0 items-center justify-center rounded-full border border-line-strong bg-raised data-[state=checked]:border-accent"
            >
              <RadioGroup.Indicator className="size-2 rounded-full bg-accent" />
            </RadioGroup.Item>
            <label htmlFor={`${id}${option.id}`}>
              {option.label}
              {option.hint !== undefined && (
                <span className="block max-w-prose text-ui text-text-2">{option.hint}</span>
              )}
            </label>
          </div>
        ))}
      </RadioGroup.Root>
    </div>
  )
}
