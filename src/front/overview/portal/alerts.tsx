/** The alerts of the overview, each with one action. */
import { amountText, shortAmountText } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Icon } from '../../../web/ui/icon.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Notice } from '../../../web/ui/notice.tsx'
import { durationText, When } from '../../../web/ui/when.tsx'
import type { Alert } from '../alerts.ts'

/** One alert stands open; several fold into one line, so that the balance stays in sight. */
export function Alerts({ of, now, takesDeposits }: AlertsProps) {
  const all = of.map((alert) => wordsOf(alert, now, takesDeposits))
  const [first] = all
  if (first === undefined) return null
  return (
    <div class="bleed alerts">
      {all.length === 1 ? (
        <AlertNote of={first} />
      ) : (
        <details>
          <summary class={['note', toneOf(first)]}>
            <Icon name={toneOf(first)} />
            <p>
              <strong>{all.length} things need you.</strong> {first.title}
            </p>
          </summary>
          {all.map((words) => (
            <AlertNote of={words} />
          ))}
        </details>
      )}
    </div>
  )
}

const AlertNote = ({ of }: { of: Words }) => {
  const button = (
    <ButtonLink small href={of.href}>
      {of.action}
    </ButtonLink>
  )
  return (
    <Notice tone={toneOf(of)} title={of.title} action={button}>
      {of.more}
    </Notice>
  )
}

const toneOf = ({ tone = 'warn' }: Words) => tone

type AlertsProps = {
  of: readonly Alert[]
  now: number
  /** Whether accounts can deposit; otherwise the operator grants credit. */
  takesDeposits: boolean
}

type Words = { tone?: 'bad' | 'warn'; title: Child; more: Child; action: string; href: string }

function wordsOf(alert: Alert, now: number, takesDeposits: boolean): Words {
  switch (alert.kind) {
    case 'log_diverged':
    case 'unbalanced':
    case 'degraded':
      return { ...serviceWords[alert.kind], action: 'View status', href: '/status' }
    case 'balance_used_up':
      return {
        tone: 'bad',
        title: 'Your balance is empty.',
        more: takesDeposits
          ? 'Runs are refused until you deposit from your wallet.'
          : 'Runs are refused until the operator of this server grants credit.',
        ...(takesDeposits ? deposit : { action: 'View usage', href: '/dashboard/usage' }),
      }
    case 'balance_low':
      return {
        title: `Your balance will last about ${daysText(alert.days)}.`,
        more: takesDeposits
          ? 'Deposit from your wallet to extend it.'
          : 'The operator of this server grants credit.',
        ...(takesDeposits ? deposit : { action: 'View usage', href: '/dashboard/usage' }),
      }
    case 'more_keys':
      return {
        title: `${alert.count} more ${alert.count === 1 ? 'key needs' : 'keys need'} attention.`,
        more: 'They are near their cap or expire within three days.',
        action: 'View all keys',
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
    title: 'The log of this server is missing signed receipts.',
    more: 'Runs and receipts are paused until its operator resolves this.',
  },
  unbalanced: {
    tone: 'bad',
    title: 'The ledger of this server does not balance.',
    more: 'Its operator must investigate.',
  },
  degraded: {
    title: 'Anchors are late.',
    more: 'Receipts are still signed and logged; they reach the chain later.',
  },
} as const

type KeyAlert = Extract<Alert, { kind: 'cap_used_up' | 'cap_near' | 'key_expires' }>

function keyWords(alert: KeyAlert, now: number): Words {
  const { key } = alert
  const href = `/dashboard/keys/${key.id}`
  if (alert.kind === 'key_expires') {
    return {
      title: (
        <>
          {key.name} expires <When at={key.expiresAt} now={now} />.
        </>
      ),
      more: 'After that, its calls and those of the keys below it are refused.',
      action: 'Set a later expiry',
      href,
    }
  }
  if (alert.kind === 'cap_used_up') {
    return {
      tone: 'bad',
      title: `${key.name} has used up its cap of ${amountText(key.capLimit)}.`,
      more:
        alert.resetsAt === null ? (
          'Its runs are refused.'
        ) : (
          <>
            Its runs are refused until its cap resets <When at={alert.resetsAt} now={now} />.
          </>
        ),
      action: 'Raise cap',
      href,
    }
  }
  return {
    title: `${key.name} has ${shortAmountText(alert.left)} left under its cap.`,
    more:
      alert.stopsInMs === undefined
        ? `It is capped at ${amountText(key.capLimit)}.`
        : `At today’s pace it reaches the cap in about ${longText(alert.stopsInMs)}.`,
    action: 'Raise cap',
    href,
  }
}

const daysText = (days: number): string => {
  if (days < 1) return 'one day at most'
  return days === 1 ? 'one more day' : `${days} more days`
}

const longText = (ms: number): string => (ms < 60_000 ? 'a minute' : wordy(durationText(ms)))

const wordy = (duration: string): string =>
  duration
    .replace(/ min$/, ' minutes')
    .replace(/ h$/, ' hours')
    .replace(/^1 (.+)s$/, '1 $1')
