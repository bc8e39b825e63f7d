/** The guides: what people come for, each with commands that work here as they are pasted. */
import { firstSteps } from './first-steps.ts'
import { clientText, environmentText } from './texts.ts'

/** A step: a sentence or two, and a command. */
export type GuideStep = { title: string; about?: string; command?: string }

export type Guide = {
  id: string
  title: string
  /** Its use, in a sentence. */
  about: string
  steps: (baseUrl: string) => GuideStep[]
}

const stepsAt = (baseUrl: string, ...places: number[]): GuideStep[] =>
  firstSteps(baseUrl).filter((_, at) => places.includes(at))

const exported = 'export COUNTERFOIL_KEY=sk-service-…'

export const guides: readonly Guide[] = [
  {
    id: 'first-run',
    title: 'The first run',
    about: 'A key, its budget, one answer, and the receipt of it.',
    steps: (baseUrl) => [
      {
        title: 'Put a key into the environment',
        about: 'Make one under Keys; its secret is shown once.',
        command: exported,
      },
      ...stepsAt(baseUrl, 0, 1),
      {
        title: 'Look at its receipt',
        about: 'The answer names it in `receipt.url`. It stands under Receipts too.',
      },
    ],
  },
  {
    id: 'clients',
    title: 'With the OpenAI clients',
    about: 'Two variables; the program stays as it is.',
    steps: (baseUrl) => [
      { title: 'Set the base URL and the key', command: environmentText(baseUrl) },
      {
        title: 'Run a program that you have',
        about: 'The answer has `receipt` and `usage.cost_nusd` beside what the client knows.',
      },
    ],
  },
  {
    id: 'verify',
    title: 'Verify a receipt',
    about: 'Here, and without this service.',
    steps: (baseUrl) => stepsAt(baseUrl, 2, 3),
  },
  {
    id: 'agents',
    title: 'Keys for agents',
    about: 'A key below yours has a cap of its own, and never spends past yours.',
    steps: (baseUrl) => stepsAt(baseUrl, 0, 4),
  },
  {
    id: 'tools',
    title: 'As a tool of an agent (MCP)',
    about: 'Models, keys and receipts as tools, with the same key and limits.',
    steps: (baseUrl) => [{ title: 'Tell your client of it', command: clientText(baseUrl) }],
  },
]

export const guidePath = (id: string): string => `/docs/guides/${id}`
