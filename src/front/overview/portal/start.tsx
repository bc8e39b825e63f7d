/** The onboarding steps to a first verified receipt. */
import { receiptPath } from '../../../runs/portal/run-state.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { type Step, Steps } from '../../../web/ui/steps.tsx'
import { type Onboarding, stepCount, stepsDone } from '../onboarding.ts'

export const Start = ({ of, takesDeposits }: StartProps) => (
  <Panel
    id="start"
    title="Get your first receipt"
    aside={
      <small class="quiet">
        {stepsDone(of)} of {stepCount} done
      </small>
    }
  >
    <Steps of={stepsOf(of, takesDeposits)} />
  </Panel>
)

type StartProps = {
  of: Onboarding
  /** Whether accounts can deposit; otherwise the operator grants credit. */
  takesDeposits: boolean
}

const stepsOf = ({ hasCredit, hasKey, ended }: Onboarding, takesDeposits: boolean): Step[] => [
  { label: 'Connect a wallet', done: true },
  takesDeposits
    ? {
        label: hasCredit ? 'Get credit' : 'Get credit: send a deposit from your wallet',
        done: hasCredit,
        action: (
          <ButtonLink small look="go" href="/dashboard/deposits">
            Deposit
          </ButtonLink>
        ),
      }
    : {
        label: hasCredit ? 'Get credit' : 'Get credit: the operator of this server grants it',
        done: hasCredit,
      },
  {
    label: 'Create a capped key',
    done: hasKey,
    action: (
      <ButtonLink small look={hasCredit ? 'go' : undefined} href="/dashboard/keys/new">
        Create one
      </ButtonLink>
    ),
  },
  {
    label: 'Make a run with the key',
    done: ended !== undefined,
    action: hasKey ? (
      <ButtonLink small look="go" href="/dashboard/console">
        Run one
      </ButtonLink>
    ) : null,
  },
  {
    label: 'Verify its receipt in your browser',
    done: false,
    action: ended ? (
      <ButtonLink small look="go" href={receiptPath(ended.id)}>
        Verify
      </ButtonLink>
    ) : null,
  },
]
