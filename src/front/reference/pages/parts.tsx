/** Parts of reference pages: prose, members, schemas. */
import type { Schema, Schemas } from '../../../web/http/json-schema.ts'
import { Code } from '../../../web/ui/copy-box.tsx'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { areas, schemas } from '../areas.ts'
import { type Field, fieldsOf, typeOf } from '../field.ts'
import { wordsOf } from '../find.ts'
import { sampleOf } from '../sample.ts'

/** Words of the reference: what stands between backticks is code. */
export const Prose = ({ children }: { children: string }) => (
  <>{children.split('`').map((piece, i) => (i % 2 === 1 ? <code>{piece}</code> : piece))}</>
)

/** A text in which the words that were asked are marked. */
export function Marked({ text, asked }: { text: string; asked: string }) {
  const words = wordsOf(asked).map(RegExp.escape)
  if (words.length === 0) return <>{text}</>
  const pieces = text.split(new RegExp(`(${words.join('|')})`, 'iu'))
  return <>{pieces.map((piece, i) => (i % 2 === 1 ? <mark>{piece}</mark> : piece))}</>
}

/** Names, types and meanings, one below the other on a phone. */
export const Fields = ({ label, of }: { label: string; of: readonly Field[] }) => (
  <dl class="fields" aria-label={label}>
    {of.map(({ name, type, refersTo, about, isOptional }) => (
      <div>
        <dt>
          <code>{name}</code>{' '}
          <small class="quiet">
            {refersTo ? <a href={schemaPath(refersTo)}>{type}</a> : type}
            {isOptional ? ', optional' : ''}
          </small>
        </dt>
        <dd>
          <Prose>{about}</Prose>
        </dd>
      </div>
    ))}
  </dl>
)

/** A link to a schema by its name. */
export const SchemaLink = ({ schema }: { schema: Schema }): Markup => {
  const { $ref, anyOf } = schema
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return <a href={schemaPath(name)}>{name}</a>
  }
  if (!Array.isArray(anyOf)) return <>{typeOf(schema)}</>
  return (
    <>
      {anyOf.map((one, i) => (
        <>
          {i === 0 ? '' : ' or '}
          <SchemaLink schema={one as Schema} />
        </>
      ))}
    </>
  )
}

/** The address of a schema: on the page of its area. */
function schemaPath(name: string): string {
  const area = areas.find(({ schemas }) => name in schemas)
  return area ? `/docs/${area.id}#${name}` : '/docs#errors'
}

/** Parameters of a path or a query. */
export const parameterFields = (of: Schemas = {}, isOptional: boolean): Field[] =>
  Object.entries(of).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    refersTo: undefined,
    about: String(schema['description'] ?? ''),
    isOptional,
  }))

/** The members of a named schema. */
export const SchemaSection = ({ name, schema }: { name: string; schema: Schema }) => {
  const fields = fieldsOf(schema)
  return (
    <div class="stack" id={name}>
      <h3>
        <a href={`#${name}`}>{name}</a>
      </h3>
      {schema['description'] ? (
        <p>
          <Prose>{String(schema['description'])}</Prose>
        </p>
      ) : null}
      {fields.length === 0 ? null : <Fields label={`Members of ${name}`} of={fields} />}
      <Code
        label={`A sample of ${name}`}
        text={JSON.stringify(sampleOf(schema, schemas), null, 2)}
      />
    </div>
  )
}
