/** Opens the conversation of a run in the console, to ask it again or to go on. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { isId } from '../../../kernel/ids.ts'
import { messagesIn } from '../../../runs/conversation.ts'
import { recentTurns, type Turn } from '../talk.ts'
import type { Draft } from './question.ts'

/**
 * Returns the model of a run and, where its texts are kept, its question and the turns before it;
 * undefined for a run of another account.
 */
export async function draftOfRun(
  { runs, texts }: Pick<Deps, 'runs' | 'texts'>,
  acting: Actor,
  id: string | undefined,
): Promise<Pick<Draft, 'model' | 'input' | 'system' | 'turns'> | undefined> {
  const shown = id !== undefined && isId('run', id) ? await runs.findShown(acting, id) : undefined
  if (!shown) return undefined
  const kept = await texts.find(shown.run.id)
  const said = (kept && messagesIn(kept.input)) ?? []
  const { model } = shown.run
  const system: string[] = []
  const turns: Turn[] = []
  for (const { role, answer } of said) {
    const turn = turns.at(-1)
    if (role === 'system' || role === 'developer') system.push(answer.text)
    else if (role === 'user') turns.push({ input: answer.text, output: '', model })
    else if (role === 'assistant' && turn) turn.output = joined(turn.output, answer.text)
  }
  const asked = turns.pop()
  return {
    model,
    input: asked?.input ?? '',
    system: system.join('\n'),
    turns: recentTurns(turns),
  }
}

/** Between calls of tools an answer comes in several messages. */
const joined = (before: string, text: string): string =>
  before === '' || text === '' ? before + text : `${before}\n\n${text}`
