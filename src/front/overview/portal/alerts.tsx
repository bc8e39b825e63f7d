import { amountText } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Notice } from '../../../web/ui/notice.tsx'
import { durationText, relativeTime } from '../../../web/ui/when.tsx'
import type { Alert } from '../alerts.ts'

/** What is about to stop, or has, each with the one thing to do about it. */
export const Alerts = ({ of, now, takesDeposits }: AlertsProps) => (
  <>
    {of.map((alert) => {
      const { tone = 'warn', title, more, action, href } = wordsOf(alert, now, takesDeposits)
      const button = (
        <ButtonLink small href={href}>
          {action}
        </ButtonLink>
      )
      return (
        <Notice tone={tone} title={title} action={button}>
          {more}
        </Notice>
      )
    })}
  </>
)

type AlertsProps = {
  of: readonly Alert[]
  now: number
  /** Whether an account can fund itself; else the operator does. */
  takesDeposits: boolean
}

type Words = { tone?: 'bad' | 'warn'; title: Child; more: Child; action: string; href: string }

function wordsOf(alert: Alert, now: number, takesDeposits: boolean): Words {
  switch (alert.kind) {
    case 'log_diverged':
    case 'unbalanced':
    case 'degraded':
      return { ...serviceWords[alert.kind], action: 'See the status', href: '/v1/status' }
    case 'balance_used_up':
      return {
        tone: 'bad',
        title: 'Your balance is used up.',
        more: takesDeposits
          ? 'Runs are refused until there is more: send a deposit from your wallet.'
          : 'Runs are refused until the operator of this server grants more.',
        ...(takesDeposits ? deposit : { action: 'See what was spent', href: '/dashboard/usage' }),
      }
    case 'balance_low':
      return {
        title: `Your balance lasts about ${daysText(alert.days)}.`,
        more: takesDeposits
          ? 'A deposit from your wallet makes it last longer.'
          : 'The operator of this server grants credit.',
        ...(takesDeposits ? deposit : { action: 'See what is spent', href: '/dashboard/usage' }),
      }
    case 'more_keys':
      return {
        title: `${alert.count} more ${alert.count === 1 ? 'key is' : 'keys are'} near an end.`,
        more: 'Their cap is nearly used up, or they expire within three days.',
        action: 'See all keys',
        href: '/dashboard/keys',
      }
    default:
      return keyWords(alert, now)
  }
}

const deposit = { action: 'Deposit', href: '/dashboard/deposits' } as const

const serviceWords = {
  log_diverged: {
    tone: 'bad',
    title: 'The log of this server lacks what was signed of it.',
    more: 'No run is taken and no receipt is issued until its operator has looked into it.',
  },
  unbalanced: {
    tone: 'bad',
    title: 'The books of this server do not balance.',
    more: 'Its operator has to look into it.',
  },
  degraded: {
    title: 'Anchors are late.',
    more: 'Receipts are signed and logged as always; they reach the chain later.',
  },
} as const

type KeyAlert = Extract<Alert, { kind: 'cap_used_up' | 'cap_near' | 'key_expires' }>

function keyWords(alert: KeyAlert, now: number): Words {
  const { key } = alert
  const href = `/dashboard/keys/${key.id}`
  if (alert.kind === 'key_expires') {
    return {
      title: `${key.name} expires ${relativeTime(key.expiresAt, now)}.`,
      more: 'After that its calls are refused, and those of the keys below it.',
      action: 'Set a later expiry',
      href,
    }
  }
  if (alert.kind === 'cap_used_up') {
    const again =
      alert.resetsAt === null
        ? ''
        : ` until its cap starts anew ${relativeTime(alert.resetsAt, now)}`
    return {
      tone: 'bad',
      title: `${key.name} has used up its cap of ${amountText(key.capLimit)}.`,
      more: `Its runs are refused${again}.`,
      action: 'Raise cap',
      href,
    }
  }
  return {
    title: `${key.name} has ${amountText(alert.left)} left under its cap.`,
    more:
      alert.stopsInMs === undefined
        ? `It is capped at ${amountText(key.capLimit)}.`
        : `At today’s pace it stops in about ${longText(alert.stopsInMs)}.`,
    action: 'Raise cap',
    href,
  }
}

const daysText = (days: number): string => {
  if (days < 1) return 'another day at most'
  return days === 1 ? 'one more day' : `${days} more days`
}

const longText = (ms: number): string =>
  ms < 60_000 ? 'a minute' : durationText(ms).replace(/ min$/, ' minutes').replace(/ h$/, ' hours')
