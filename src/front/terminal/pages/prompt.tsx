/** The terminal's form and its list of commands. */
import { Button } from '../../../web/ui/button.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { VisitReceipts } from '../../../web/ui/visit-receipts.tsx'
import type { Allowance } from '../allowance.ts'
import { commands, type Usage, usageOf } from '../language.ts'

export const terminalPath = '/terminal'

/** A sent command and its answer; `fault` if it was refused. */
export type TerminalOutput = {
  command: string
  lines: readonly string[]
  receiptId?: string | undefined
  fault?: boolean
}

type FormProps = {
  /** The text in the field. */
  command?: string | undefined
  /** The last command, for a page without script. */
  said?: TerminalOutput | undefined
  allowance?: Allowance | undefined
}

/**
 * The terminal, for any page: the answers, and the next command's line. With the script `terminal`
 * it answers in place; without, its form posts to `/terminal`.
 */
export const TerminalForm = ({ command = '', said, allowance }: FormProps) => (
  <section class="sec term" aria-label="Terminal">
    <div class="screen" id="terminal-said" role="log" aria-label="Answers" tabindex="0">
      {said ? <TerminalOutputView said={said} /> : <Greeting />}
    </div>
    <VisitReceipts />
    <form class="prompt" id="terminal-form" method="post" action={terminalPath}>
      <label class="vh" for="terminal-command">
        Command
      </label>
      <input
        id="terminal-command"
        name="command"
        value={command}
        maxlength={2200}
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        placeholder="Why is a receipt signed?"
        data-commands={commands.map(({ name }) => name).join(' ')}
        required
      />
      <Button look="go">Run</Button>
    </form>
    <form class="questions" id="terminal-questions" method="post" action={terminalPath}>
      {questions.map((question) => (
        <button class="btn small" type="submit" name="command" value={question}>
          {question}
        </button>
      ))}
    </form>
    <footer>
      <small class="quiet" id="terminal-allowance">
        {allowance ? allowanceText(allowance) : 'No account needed.'}
      </small>
      <nav class="row" aria-label="Examples">
        {examples.map((line) => (
          <CommandLink line={line} />
        ))}
      </nav>
    </footer>
  </section>
)

const examples = ['help', 'status', 'models', 'recent']

/** Asked with one click. */
const questions = [
  'Why is a receipt signed?',
  'How does a Merkle tree prove an entry?',
  'What stops an agent from overspending?',
]

/** Every command, as a link that puts it into the field. */
export const TerminalHelp = () => (
  <Panel id="terminal-help" title="Commands">
    <Pad>
      <Facts of={(commands as readonly Usage[]).map(toFact)} />
    </Pad>
  </Panel>
)

const toFact = (usage: Usage) => [<UsageLink usage={usage} />, usage.about] as const

/** A command with an argument leaves room for it. */
const UsageLink = ({ usage }: { usage: Usage }) => (
  <CommandLink line={usage.takes === 'nothing' ? usage.name : `${usage.name} `}>
    {usageOf(usage)}
  </CommandLink>
)

/** Puts a line into the field, by script or by loading the page with it. */
const CommandLink = ({ line, children }: { line: string; children?: string }) => (
  <a href={`${terminalPath}?command=${encodeURIComponent(line)}`} data-command={line}>
    <code>{children ?? line}</code>
  </a>
)

const Greeting = () => (
  <p class="quiet" id="terminal-greeting">
    Ask a question or enter a command. No account is needed: a model answers, and you can check the
    receipt of its answer.
  </p>
)

const TerminalOutputView = ({
  said: { command, lines, receiptId, fault },
}: {
  said: TerminalOutput
}) => (
  <>
    <p class="asked">{command}</p>
    <pre class={['out', fault && 'bad']} role={fault ? 'alert' : undefined}>
      {lines.join('\n')}
    </pre>
    {receiptId ? (
      <p class="next row">
        <a href={`/receipts/${receiptId}`}>Open the receipt</a>
        <CommandLink line={`verify ${receiptId}`}>ask the server to verify it</CommandLink>
      </p>
    ) : null}
  </>
)

export const allowanceText = ({ remaining, resets_at: resetsAt }: Allowance): string =>
  `${remaining} ${remaining === 1 ? 'ask' : 'asks'} left today; ` +
  `new ones at ${resetsAt.slice(11, 16)} UTC.`
