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
  const textsOf = (side: string) =>
    said.filter(({ role }) => role === side).map(({ answer }) => answer.text)
  const asked = textsOf('user')
  const answered = textsOf('assistant')
  const turns: Turn[] = asked.slice(0, -1).map((input, at) => {
    return { input, output: answered[at] ?? '', model: shown.run.model }
  })
  return {
    model: shown.run.model,
    input: asked.at(-1) ?? '',
    system: textsOf('system').join('\n'),
    turns: recentTurns(turns),
  }
}
