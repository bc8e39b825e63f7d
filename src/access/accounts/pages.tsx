/** `GET /signin`: choose a wallet, or sign a text by hand and paste the signature. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { readCookie } from '../../web/http/cookies.ts'
import { isLoopback } from '../../web/http/host.ts'
import { queryOf, readText } from '../../web/http/query.ts'
import { Address } from '../../web/ui/address.tsx'
import { Amount } from '../../web/ui/amount.tsx'
import { Button, CopyButton } from '../../web/ui/button.tsx'
import { ActionForm, AreaField, TextField } from '../../web/ui/form.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { type Page, publicPage } from '../../web/ui/layout.tsx'
import { ErrorNote, Notice } from '../../web/ui/notice.tsx'
import { Pad, Panel, Split } from '../../web/ui/panel.tsx'
import { reply, sendOn } from '../../web/ui/reply.ts'
import { Hour } from '../../web/ui/when.tsx'
import { peerOf, testAccountFor, testAccountPath } from './api/test-account.ts'
import type { Demo } from './demo-port.ts'
import { currentSession } from './needs-session.ts'
import { nextPage, visitorPath } from './next-page.ts'
import { hashToken, isToken } from './session.ts'
import { sampleSiwe } from './siwe.ts'

export const signInPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'sign-in-pages' }).get('/signin', async ({ request, server, set }) => {
    const { settings, nonces, clock, demo } = deps
    const query = queryOf(request)
    const next = readText(query, 'next')
    const found = await currentSession(deps, request)
    const elsewhere =
      found?.status === 'active' ? nextPage(next) : underBaseUrl(request, settings.baseUrl)
    if (elsewhere !== undefined) return sendOn({ set }, elsewhere)
    const nonce = readText(query, 'nonce')
    const browser = readCookie(request.headers, 'signin', settings.baseUrl)
    const asked =
      nonce !== undefined && browser !== undefined && isToken(browser)
        ? await nonces.find(nonce, hashToken(browser), clock.now())
        : undefined
    const message = asked?.message ?? undefined
    const isLost = demo && readCookie(request.headers, 'sid', settings.baseUrl) !== undefined
    const late = nonce && !message ? 'late' : isLost ? 'reset' : undefined
    const note = query.has('changed') ? 'changed' : late
    const testAccount = testAccountFor(settings, request, peerOf(server, request))
    const { baseUrl } = settings
    const page = signInPage(frame, { baseUrl, next, message, note, testAccount, demo })
    return reply({ request, set }, { page })
  })

/**
 * The same page under the host of `base_url`, for a request by another loopback name: a wallet
 * signs for the name it sees. Only on loopback, because proxies may rewrite the host.
 */
function underBaseUrl({ headers, url }: Request, baseUrl: string): string | undefined {
  const { host, hostname } = new URL(baseUrl)
  if (!isLoopback(hostname) || headers.get('host')?.toLowerCase() === host) return undefined
  return baseUrl + url.slice(url.indexOf('/', url.indexOf('//') + 2))
}

export type SignInView = {
  baseUrl: string
  /** The page after the sign-in. */
  next?: string | undefined
  /** The text to sign by hand. */
  message?: string | undefined
  /** Of `--dev`, for clients on this machine. */
  testAccount?: string | undefined
  /** Of a demonstration, whose visitors need no wallet. */
  demo?: Demo | undefined
  /** The wallet's account changed, the text expired, or a reset took the session. */
  note?: 'changed' | 'late' | 'reset' | undefined
  /** Why the last attempt failed. */
  refusal?: Refusal | undefined
}

/** The sign-in at its first step or, with a text to sign, at its second. */
export const signInPage = (frame: Frame, view: SignInView): Page =>
  publicPage({
    frame,
    title: 'Connect a wallet',
    description: 'Sign in with an Ethereum wallet. There is no e-mail and no password.',
    here: '/signin',
    isUnlisted: true,
    main: (
      <>
        <Notes view={view} />
        {view.message === undefined ? <Choose view={view} /> : <SignByHand view={view} />}
      </>
    ),
    scripts: view.message === undefined ? ['wallet'] : [],
  })

function Notes({ view: { note, refusal, demo } }: { view: SignInView }) {
  if (refusal) return <ErrorNote what={refusal.message} charged="Start again below." />
  if (note === undefined) return null
  if (note === 'reset' && demo) return <WasReset at={demo.beganAt} />
  const [title, more] =
    note === 'changed'
      ? ['You were signed out.', 'Your wallet switched to another account.']
      : ['This text has expired.', 'A text is valid for five minutes. Start again.']
  return (
    <Notice tone="warn" title={title}>
      {more}
    </Notice>
  )
}

const WasReset = ({ at }: { at: Millis }) => (
  <Notice
    tone="warn"
    title={
      <>
        The demo was reset at <Hour at={at} />.
      </>
    }
  >
    Sign in as a new visitor.
  </Notice>
)

const Sheet = ({ step, children }: { step: number; children: Child }) => (
  <section class="sec" aria-labelledby="connect">
    <header>
      <h1 id="connect">{step === 1 ? 'Connect a wallet' : 'Sign this text'}</h1>
      <small class="quiet">Step {step} of 2</small>
    </header>
    {children}
  </section>
)

const Choose = ({ view }: { view: SignInView }) => (
  <Split>
    <section class="stack">
      {view.demo ? <AsVisitor view={view} credit={view.demo.credit} /> : null}
      {view.testAccount === undefined ? null : <AsTest view={view} account={view.testAccount} />}
      <Wallets view={view} />
      <ByHand view={view} />
    </section>
    <Panel id="sample" title="What you will sign">
      <Pad>
        <section class="code wrap" tabindex="0" aria-label="The text to sign">
          <pre>{sampleSiwe(view.baseUrl)}</pre>
        </section>
      </Pad>
    </Panel>
  </Split>
)

const AsTest = ({ view, account }: { view: SignInView; account: string }) => (
  <Panel id="as-test" title="Try it out">
    <ActionForm action={testAccountPath} look="stack">
      <p>
        This server runs with <code>--dev</code>. Its key belongs to the test account{' '}
        <Address value={account} />, whose private key is public: send no money there.
      </p>
      <NextField next={view.next} />
      <p>
        <Button look="go">Sign in as the test account</Button>
      </p>
    </ActionForm>
  </Panel>
)

const AsVisitor = ({ view, credit }: { view: SignInView; credit: Nusd }) => (
  <Panel id="as-visitor" title="Try as a visitor">
    <ActionForm action={visitorPath} look="stack">
      <p>
        This server makes a wallet for you and forgets its key. You get <Amount nusd={credit} /> of
        demo money; a wallet of your own gets the same. None of it is real.
      </p>
      <NextField next={view.next} />
      <p>
        <Button look="go">Try as a visitor</Button>
      </p>
    </ActionForm>
  </Panel>
)

/** Filled by the wallet script. Space is reserved, so that nothing shifts when it loads. */
export const Wallets = ({ view }: { view: SignInView }) => (
  <Sheet step={1}>
    <Pad>
      <p>Your wallet address is your account. Signing is free and sends no transaction.</p>
      <div class="slot">
        <div class="wallets" id="wallets" aria-live="polite" data-next={nextPage(view.next)} />
        <div class="unseen" id="no-wallet">
          <NoWallet />
        </div>
        <noscript>
          <p>Wallets in this browser need JavaScript. Without it, sign by hand.</p>
        </noscript>
      </div>
      <div class="slot">
        <p class="quiet" id="wallet-hint">
          <small>
            Browser wallets show up here by themselves. On a phone, open this page inside your
            wallet’s app.
          </small>
        </p>
        <div class="unseen" id="wallet-trouble" role="alert">
          <Notice tone="bad" title={<span id="wallet-trouble-title" />}>
            <span id="wallet-trouble-more" />
          </Notice>
        </div>
        <p class="unseen" id="wallet-status" role="status" />
      </div>
    </Pad>
  </Sheet>
)

const NoWallet = () => (
  <Notice
    tone="warn"
    title="No wallet found in this browser."
    action={<CopyButton label="Copy link" />}
  >
    Install one, or open this page inside a wallet app. You can also sign by hand.
  </Notice>
)

const ByHand = ({ view }: { view: SignInView }) => (
  <Panel id="by-hand" title="Sign by hand">
    <ActionForm action="/api/auth/nonce" look="stack">
      <p>If your wallet is not in this browser, sign a text there and paste the signature here.</p>
      <NextField next={view.next} />
      <TextField
        name="address"
        label="Wallet address"
        placeholder="0x…"
        maxlength={42}
        required
        form="hand"
      />
      <p>
        <Button>Show the text to sign</Button>
      </p>
    </ActionForm>
  </Panel>
)

const SignByHand = ({ view }: { view: SignInView }) => (
  <Sheet step={2}>
    <ActionForm action="/api/auth/verify" look="stack">
      <p>
        Sign exactly this text in your wallet (<code>personal_sign</code>, EIP-191), within five
        minutes. It costs nothing and sends no transaction.
      </p>
      <div class="secret lines">
        <output id="text" aria-label="The text to sign">
          {view.message}
        </output>
        <CopyButton of="text" />
      </div>
      <input type="hidden" name="message" value={view.message} />
      <NextField next={view.next} />
      <AreaField
        name="signature"
        label="Signature"
        placeholder="0x…"
        hint="0x and 130 hexadecimal digits; more where the wallet is a contract."
        rows={3}
        mono
        required
      />
      <p class="row">
        <Button look="go">Sign in</Button>
        <a href="/signin">Start again</a>
      </p>
    </ActionForm>
  </Sheet>
)

const NextField = ({ next }: { next: string | undefined }) =>
  next === undefined ? null : <input type="hidden" name="next" value={nextPage(next)} />
