/** The page that says how to deposit. */
import { chainId } from '../../../kernel/chain.ts'
import { type Nusd, toUsd } from '../../../kernel/money.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { ActionForm, TextField } from '../../../web/ui/form.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Facts, Figure, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { Qr } from '../../../web/ui/qr.tsx'
import type { DepositPolicy } from '../deposit.ts'
import { paymentOf } from '../payment.ts'
import { ClaimPanel, type ClaimView } from './claim.tsx'
import { HistoryPanel, type HistoryView } from './deposit-history.tsx'

export type PayView = {
  account: string
  policy: DepositPolicy
  /** The symbol of the token, such as USDG. */
  symbol: string | null
  amount: Nusd | undefined
  /** The text typed, and its fault. */
  wrong?: { typed: string; message: string }
  /** Why deposits that are sent now wait. */
  trouble: boolean
}

export type DepositsView = {
  pay: PayView
  history: HistoryView
  claim: ClaimView
  purse: { balance: Nusd; held: Nusd }
}

export const DepositsPage = ({ view }: { view: DepositsView }) => (
  <>
    <PageHead title="Deposits" />
    <Figure
      label="Available"
      big={<Amount nusd={view.purse.balance - view.purse.held} as="sum" round="down" />}
    >
      <p>
        <Amount nusd={view.purse.held} as="list" round="up" /> held by runs now
      </p>
    </Figure>
    <div class="stack wide">
      <Split>
        <PayPanel view={view.pay} />
        <RulesPanel policy={view.pay.policy} />
      </Split>
      <HistoryPanel view={view.history} />
      <ClaimPanel view={view.claim} />
    </div>
  </>
)

/**
 * In the order of reading: the coin, the amount, the warning, the button, the address. A transfer
 * cannot be taken back, so the warning stands before every way to send one.
 */
export const PayPanel = ({ view }: { view: PayView }) => {
  const { policy, amount } = view
  const payment = paymentOf(policy, amount)
  const sum = amount === undefined ? '' : ` of ${amountText(amount)}`
  return (
    <Panel id="pay" title="Add money">
      <Coin view={view} token={payment.token} />
      <AmountForm view={view} />
      <Pad>
        {view.trouble ? (
          <Notice tone="warn" title="Deposits are delayed.">
            The chain cannot be read as it should now. What you send is credited afterwards.
          </Notice>
        ) : null}
        <Notice tone="warn" title="Send from your own wallet, not from an exchange.">
          A balance <strong>cannot be withdrawn</strong>. If you lose the wallet, you lose the
          account.
        </Notice>
        <SendButton view={view} link={payment.link} />
        <CopyBox id="treasury" label="Address to send to" value={payment.treasury} />
        <details>
          <summary>From another device</summary>
          <Qr text={payment.link} label={`QR code: a transfer${sum} to ${payment.treasury}`} />
        </details>
      </Pad>
    </Panel>
  )
}

const dollar =
  'M24.6 15.2c-.8-1.6-2.5-2.4-4.6-2.4-2.7 0-4.7 1.3-4.7 3.4 0 4.9 9.5 2.5 9.5 7.5 ' +
  '0 2.2-2.1 3.6-4.9 3.6-2.4 0-4.3-1-5-2.8M20 10v20'

/** The one coin that is credited. */
const Coin = ({ view: { policy, symbol }, token }: { view: PayView; token: string }) => (
  <div class="pad coin">
    <svg viewBox="0 0 40 40" aria-hidden="true">
      <circle cx="20" cy="20" r="18.5" />
      <circle class="rim" cx="20" cy="20" r="14.5" />
      <path d={dollar} />
    </svg>
    <div>
      <strong>{symbol === null ? '' : `${symbol}, `}US dollars as a stablecoin</strong>
      <small class="quiet">
        Token <Address value={token} /> with {policy.decimals} decimals, on Robinhood Chain (
        {chainId}). At least {amountText(policy.minNusd)}.
      </small>
    </div>
  </div>
)

/**
 * The amount in the links and the code follows the field while one types, so that no button has to
 * take it over; without script one does.
 */
const AmountForm = ({ view: { amount, wrong } }: { view: PayView }) => (
  <ActionForm
    action="/api/portal/deposits"
    target="#pay"
    swap="outerMorph"
    trigger="change, submit"
    look="stack"
  >
    <TextField
      name="amount"
      form="pay"
      label="Amount in USD"
      value={wrong?.typed ?? (amount === undefined ? '' : toUsd(amount))}
      inputmode="decimal"
      placeholder="25.00"
      maxlength={20}
      error={wrong?.message}
      hint="Optional: without one you enter it in your wallet."
    />
    <div class="row noscript">
      <Button>Use this amount</Button>
    </div>
  </ActionForm>
)

/**
 * The one button that sends: by the wallet of the browser, which the script shows where it finds
 * one, or else by a link that a wallet app opens.
 */
const SendButton = ({ view: { account, policy }, link }: { view: PayView; link: string }) => (
  <div
    id="wallet-deposit"
    class="send"
    data-of={account}
    data-treasury={policy.treasury}
    data-token={policy.token}
    data-decimals={String(policy.decimals)}
    data-least={policy.minNusd.toString()}
  >
    <div class="row">
      <button class="btn go" type="button" id="wallet-send" hidden>
        Deposit with wallet
      </button>
      <ButtonLink href={link} look="go">
        Open in a wallet app
      </ButtonLink>
    </div>
    <p id="wallet-said" role="status" class="quiet"></p>
  </div>
)

const RulesPanel = ({ policy }: { policy: DepositPolicy }) => (
  <Panel id="rules" title="When it counts">
    <Pad>
      <Facts
        of={[
          [`Up to ${amountText(policy.softLimitNusd)} a day`, 'after 20 blocks, about 2\u00a0s'],
          ['More than that', 'when its block is safe'],
          [`Above ${amountText(policy.finalAboveNusd)}`, 'when its block is final'],
        ]}
      />
      <p class="quiet">
        A deposit can be seen here within seconds. It can be spent once it is credited, and nothing
        changes it any more once it is final. If the chain takes a credited one back, it leaves the
        balance again, never below zero.
      </p>
    </Pad>
  </Panel>
)

/** The page of a service without deposits. */
export const NoDepositsPage = ({ account, history }: { account: string; history: HistoryView }) => (
  <>
    <PageHead title="Deposits" />
    <div class="stack">
      <Panel id="pay" title="Add money">
        <Empty
          hash={account}
          title="This server takes no deposits"
          action={<ButtonLink href="/dashboard">Back to the overview</ButtonLink>}
        >
          Its operator has not set a treasury and a chain to watch. Do not send money anywhere for
          it; the operator can grant credit.
        </Empty>
      </Panel>
      {history.found.items.length > 0 ? <HistoryPanel view={history} /> : null}
    </div>
  </>
)
