import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { cx } from './classes.ts'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: Look
  readonly small?: boolean
  readonly icon?: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

const looks: Record<Look, string> = {
  primary: 'bg-accent-fill text-on-fill font-medium border border-accent-fill hover:border-focus',
  plain: 'bg-raised text-text border border-line-strong hover:bg-hover',
  quiet: 'text-text-2 border border-transparent hover:bg-hover hover:text-text',
  danger: 'bg-danger-fill text-on-fill font-medium border border-danger-fill hover:border-focus',
}

/** One primary button on a screen at most. */
export function Button({
  look = 'plain',
  small = false,
  icon,
  className,
  children,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={cx(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-control whitespace-nowrap select-none',
        'disabled:cursor-not-allowed disabled:border-line disabled:bg-sunken disabled:text-text-3 disabled:hover:bg-sunken',
        small ? 'h-6 px-2 text-meta' : 'h-7 px-2.5 text-ui',
        'max-sm:min-h-11',
        looks[look],
        className,
      )}
      {...rest}
    >
      {icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Icons stand alone only with a name. */
  readonly label: string
  readonly ref?: Ref<HTMLButtonElement>
}

export function IconButton({ label, className, children, type = 'button', ...rest }: IconButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={cx(
        'inline-flex size-7 shrink-0 items-center justify-center rounded-control text-text-2 hover:bg-hover hover:text-text',
        'disabled:text-line-strong disabled:hover:bg-transparent max-sm:size-11',
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  )
}

/** Looks like a link, does something here. */
export function LinkButton({ className, children, type = 'button', ...rest }: ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type={type}
      className={cx(
        'rounded-chip text-accent underline-offset-2 hover:underline disabled:text-text-3 disabled:no-underline',
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  )
}
