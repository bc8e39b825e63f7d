/** One route on a page of the reference. */
import { refusals } from '../../../kernel/refusal.ts'
import {
  type Answer,
  accessOf,
  anywhere,
  methodOf,
  type Operation,
  pathOf,
  refusalsOf,
} from '../../../web/reference/operation.ts'
import { CopyButton } from '../../../web/ui/button.tsx'
import { Code } from '../../../web/ui/copy-box.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { curlOf } from '../curl.ts'
import type { Field } from '../field.ts'
import { Fields, Prose, parameterFields, SchemaLink } from './parts.tsx'

type Props = { operation: Operation; baseUrl: string }

/** One route: what it takes, what it answers, how it can refuse, and a command to try it with. */
export const OperationPanel = ({ operation, baseUrl }: Props) => {
  const { id, title, about } = operation
  const fields = parametersOf(operation)
  return (
    <Panel
      id={id}
      title={<a href={`#${id}`}>{title}</a>}
      aside={<Badge tone={isOpen(operation) ? 'ok' : 'wait'}>{accessOf(operation)}</Badge>}
    >
      <Pad>
        <p>
          <code>
            <b>{methodOf(operation)}</b> {pathOf(operation)}
          </code>
        </p>
        <p>
          <Prose>{about}</Prose>
        </p>
        {fields.length === 0 ? null : <Fields label={`Parameters of ${title}`} of={fields} />}
        {operation.body ? (
          <p>
            Body: <SchemaLink schema={operation.body.schema} />
            <FormLink body={operation.body} />
            {operation.body.isOptional ? ', or none' : ''}
          </p>
        ) : null}
        <Commands operation={operation} baseUrl={baseUrl} />
        <Answers operation={operation} />
        <Refused operation={operation} />
      </Pad>
    </Panel>
  )
}

const parametersOf = ({ path, query, isIdempotent }: Operation): Field[] => [
  ...parameterFields(path, false),
  ...parameterFields(query, true),
  ...(isIdempotent ? [idempotencyKey] : []),
]

const idempotencyKey: Field = {
  name: 'Idempotency-Key',
  type: 'header',
  refersTo: undefined,
  about: 'A request that is repeated with it is answered as it was, and charged once.',
  isOptional: true,
}

/** A body that is the same as a form has one schema for both. */
const FormLink = ({ body: { schema, form } }: { body: NonNullable<Operation['body']> }) => {
  if (form === undefined) return null
  if (form['$ref'] === schema['$ref']) return <>, as JSON or as a form</>
  return (
    <>
      , or as a form <SchemaLink schema={form} />
    </>
  )
}

const isOpen = ({ access }: Operation): boolean => access === 'none' || access === 'optional'

const Commands = ({ operation, baseUrl }: Props) => (
  <>
    {operation.examples
      .filter(({ status }) => status < 400)
      .map((example, i) => {
        const id = `${operation.id}-try${i}`
        return (
          <div class="stack">
            <p class="row">
              <strong>{example.name}</strong>
              <CopyButton of={id} />
            </p>
            <Code
              id={id}
              label={`${operation.title}: ${example.name}`}
              text={curlOf(operation, example, baseUrl)}
            />
          </div>
        )
      })}
  </>
)

const Answers = ({ operation }: { operation: Operation }) => (
  <>
    {operation.answers.map((answer) => (
      <div class="stack">
        <p>
          <strong>{answer.status}</strong> <Prose>{answer.about}</Prose> <Bodies answer={answer} />
        </p>
        <Headers answer={answer} />
        <Samples operation={operation} answer={answer} />
      </div>
    ))}
  </>
)

const Bodies = ({ answer: { content } }: { answer: Answer }) => (
  <>
    {Object.entries(content).map(([media, { schema, sample }]) =>
      sample === undefined ? <SchemaLink schema={schema} /> : <code> {media} </code>,
    )}
  </>
)

const Headers = ({ answer: { headers } }: { answer: Answer }) =>
  headers ? <Fields label="Headers" of={parameterFields(headers, false)} /> : null

/** A sample of a format other than JSON; samples of JSON stand with their schemas. */
const Samples = ({ operation, answer }: { operation: Operation; answer: Answer }) => (
  <>
    {Object.entries(answer.content).map(([media, { sample }]) =>
      !sample ? null : (
        <Code label={`${operation.title}: ${answer.status} as ${media}`} text={sample} />
      ),
    )}
  </>
)

const Refused = ({ operation }: { operation: Operation }) => (
  <p class="quiet">
    Refuses with{' '}
    {[...new Set([...refusalsOf(operation), ...anywhere])].map((type, i) => (
      <>
        {i === 0 ? '' : ', '}
        <a href={`/docs#${type}`}>{type}</a> ({refusals[type][0]})
      </>
    ))}
    .
  </p>
)
