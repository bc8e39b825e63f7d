import { Address } from '../../../src/web/ui/address.tsx'
import { Amount } from '../../../src/web/ui/amount.tsx'
import { ButtonLink, CopyButton } from '../../../src/web/ui/button.tsx'
import { Code, CopyBox } from '../../../src/web/ui/copy-box.tsx'
import { Search } from '../../../src/web/ui/filters.tsx'
import { Hash } from '../../../src/web/ui/hash.tsx'
import { Ladder } from '../../../src/web/ui/ladder.tsx'
import { Notice } from '../../../src/web/ui/notice.tsx'
import { Figures, Pad, PageHead, Panel, Split } from '../../../src/web/ui/panel.tsx'
import { Qr } from '../../../src/web/ui/qr.tsx'
import { RosetteMark } from '../../../src/web/ui/rosette.tsx'
import { Slip, Stamp } from '../../../src/web/ui/slip.tsx'
import { Badge, Live } from '../../../src/web/ui/status.tsx'
import { Checks } from '../../../src/web/ui/steps.tsx'
import { Pager, Table } from '../../../src/web/ui/table.tsx'
import { Tape } from '../../../src/web/ui/tape.tsx'
import { hashOf, now, type Run, runColumns, runs, signer } from './samples.tsx'

const digest = hashOf('receipt')

export const Receipt = () => (
  <Split>
    <div class="stack wide">
      <Slip
        id="rcpt_01k7qz4n8e3v5w0m2b9c7d1f4g"
        at={now - 1_131_000}
        digest={digest}
        lines={[
          ['Model', 'acme/large'],
          ['Run', 'run_01k7qz4mwt9c, 2.41 s'],
          ['Input', '4,180 tokens at $15.00 per 1M'],
          ['Output', '2,130 tokens at $15.00 per 1M'],
          ['Plan discount', <Amount nusd={-1_200n} />],
          ['Request hash', <Hash value={hashOf('request')} />],
          ['Response hash', <Hash value={hashOf('response')} />],
          ['Signed by', <Address value={signer} />],
          ['Digest', <code>{digest}</code>],
        ]}
        total={94_650_038n}
        note="The prompt and the answer are not on this page. The hashes let anyone who holds them prove they match."
        stamp={<Stamp against="chain 4663 · anchor 512">Verified</Stamp>}
      />
      <section class="stack noprint" id="how">
        <h2>Verify without us</h2>
        <Code
          label="Offline verification"
          text={'curl -s …/v1/receipts/rcpt_01k7qz4n8e3v > r.json\ncounterfoil verify r.json'}
        />
      </section>
    </div>
    <div class="stack">
      <Panel
        id="verification"
        title="Verification"
        aside={<Badge tone="wait">Signed and logged</Badge>}
        foot={
          <>
            <span>Checked in your browser, not by the server.</span>
            <a href="#how">How it works</a>
          </>
        }
      >
        <Checks
          id="checks"
          of={[
            {
              result: 'ok',
              label: 'Signature is from this service',
              detail: 'EIP-712, recovered 0x5FbD…0aa3',
            },
            { result: 'ok', label: 'Total adds up', detail: '4,180 in + 2,130 out = $0.09465' },
            {
              result: 'wait',
              label: 'Waiting for the anchor',
              detail: 'Signed and logged, about 4 min',
            },
            {
              result: 'bad',
              label: 'Root is on chain 4663',
              detail: `Expected ${hashOf('a')}, found ${hashOf('b')}`,
            },
          ]}
        />
      </Panel>
      <Panel
        id="path"
        title="Path to the root"
        aside={
          <ButtonLink href="/proof.json" small download>
            Proof JSON
          </ButtonLink>
        }
      >
        <Ladder
          rungs={[0, 1, 2, 3, 4].map((i) => ({
            hash: hashOf(`node ${i}`),
            sibling: hashOf(`sibling ${i}`),
            side: i % 2 === 0 ? 'right' : 'left',
          }))}
          root={hashOf('root')}
          rootIs="= on chain"
        />
      </Panel>
      <Panel id="share" title="Share" aside={<Badge tone="ok">Public</Badge>} screenOnly>
        <Pad>
          <CopyBox
            id="link"
            label="Link"
            value="https://gate.example/r/rcpt_01k7qz4n8e3v5w0m2b9c7d1f4g"
          />
          <Qr
            text="ethereum:0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168@4663/transfer"
            label="Link to pay, for a wallet"
          />
          <small class="quiet">You can make it private again at any time.</small>
        </Pad>
      </Panel>
    </div>
  </Split>
)

const receiptColumns = runColumns.map((column) =>
  column.head === 'Key'
    ? {
        head: 'By',
        cell: ({ by }: Run) =>
          by ? <a href="/explorer">@{by}</a> : <span class="quiet">Private</span>,
      }
    : column,
)

const heights = [40, 62, 55, 71, 48, 80, 66, 74, 91, 58, 63, 77, 85, 69, 52, 88, 94, 73, 61, 79, 83]

export const Explorer = () => (
  <>
    <PageHead title="Explorer">
      <Search
        action="/explorer"
        name="q"
        label="Search"
        placeholder="Receipt, anchor, handle or 0x hash"
      />
    </PageHead>
    <Figures
      label="Totals"
      of={[
        [<data value="248113">248,113</data>, 'receipts signed'],
        [<data value="0.9991">99.91%</data>, 'anchored on chain 4663'],
        [<data value="18240.117204">$18,240</data>, 'settled in total'],
        [<data value="1204">1,204</data>, 'runs in the last hour'],
        [<data value="640">640 ms</data>, 'median time to first token'],
      ]}
    />
    <Panel
      id="anchors"
      title="Anchors"
      aside={
        <small class="quiet">
          One root every 10 minutes or 1,000 receipts. Bar height is the number of receipts.
        </small>
      }
      foot={
        <>
          <span>
            Anchor 512: root <Hash value={hashOf('root')} />, block 8,120,391, 222 receipts
          </span>
          <span>Next in about 4 min</span>
        </>
      }
    >
      <Tape
        label="Last 22 anchors"
        bars={[
          ...heights.map((value, i) => ({
            value,
            href: '/explorer',
            words: `Anchor ${492 + i}, ${value * 3} receipts`,
          })),
          { value: 70, href: '/explorer', words: 'Next anchor, 211 receipts waiting', open: true },
        ]}
      />
    </Panel>
    <Panel
      id="recent"
      title="Recent receipts"
      aside={<Live />}
      foot={
        <Pager older="/explorer?after=x">
          Private receipts show their cost and state, never their owner.
        </Pager>
      }
    >
      <Table caption="Recent receipts" columns={receiptColumns} rows={runs} bodyId="results" />
    </Panel>
  </>
)

export const SignIn = () => (
  <Split>
    <section class="sec" aria-labelledby="connect">
      <header>
        <h1 id="connect">Connect a wallet</h1>
        <small class="quiet">Step 1 of 2</small>
      </header>
      <Pad>
        <p>Your wallet address is your account. Signing is free and sends no transaction.</p>
        <div class="wallets" id="wallets" aria-live="polite">
          <button type="button">
            <RosetteMark hash={hashOf('a')} />
            <span>
              Browser wallet A<br />
              <small class="quiet">On chain 4663</small>
            </span>
            <Badge tone="ok">Ready</Badge>
          </button>
        </div>
      </Pad>
    </section>
    <section class="stack">
      <Notice tone="bad" title="You closed the request.">
        Nothing was signed.
      </Notice>
      <Notice
        tone="warn"
        title="No wallet found in this browser."
        action={<CopyButton label="Copy link" />}
      >
        Install one, or use this link inside a wallet app. You can look at the{' '}
        <a href="/explorer">explorer</a> without one.
      </Notice>
      <Notice tone="ok" title="Signed in.">
        Welcome back.
      </Notice>
      <Panel id="message" title="What you will sign">
        <Pad>
          <Code
            label="Sign-in message"
            text={
              'gate.example wants you to sign in with your\nEthereum account:\n0x7099…79C8\n\nURI: https://gate.example'
            }
          />
        </Pad>
      </Panel>
    </section>
  </Split>
)
