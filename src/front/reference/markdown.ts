/** Writes the pages of the reference as Markdown. */
import { refusals } from '../../kernel/refusal.ts'
import type { Schema, Schemas } from '../../web/http/json-schema.ts'
import {
  type Answer,
  type Area,
  accessOf,
  anywhere,
  methodOf,
  type Operation,
  pathOf,
  refusalsOf,
} from '../../web/reference/operation.ts'
import { areas, schemas } from './areas.ts'
import { curlOf } from './curl.ts'
import { type Field, fieldsOf, typeOf } from './field.ts'
import { firstSteps } from './first-steps.ts'
import { sampleOf } from './sample.ts'
import {
  clientText,
  environmentText,
  errorText,
  notes,
  onceText,
  rules,
  toolText,
} from './texts.ts'

/** `/docs.md`: how to begin, what holds everywhere, and where everything is. */
export const frontMarkdown = (baseUrl: string): string =>
  document([
    '# API reference',
    `Base URL: \`${baseUrl}/v1\`. Keys go into \`Authorization: Bearer sk-service-…\`; here they ` +
      'are in the environment as `COUNTERFOIL_KEY`. For programs: ' +
      `[OpenAPI 3.1](${baseUrl}/openapi.json), [llms.txt](${baseUrl}/llms.txt).`,
    ...firstSteps(baseUrl).flatMap(({ title, about = '', command }) => [
      `## ${title}`,
      about,
      code('sh', command),
    ]),
    '## What holds everywhere',
    bullets(rules),
    '## Official clients',
    'They work unchanged: only the base URL and the key are set.',
    code('sh', environmentText(baseUrl)),
    bullets(notes),
    code('js', onceText),
    '## Tools (MCP)',
    toolText,
    code('json', clientText(baseUrl)),
    '## Errors',
    errorText,
    bullets(
      Object.entries(refusals).map(
        ([type, [status, message]]) => `\`${type}\` (${status}): ${message}`,
      ),
    ),
    '## Areas',
    bullets(areas.map((area) => `[${area.title}](${baseUrl}/docs/${area.id}.md): ${area.about}`)),
  ])

/** `/docs/keys.md`: all routes of an area, and the schemas that it brings. */
export const areaMarkdown = (area: Area, baseUrl: string): string =>
  document([
    `# ${area.title}`,
    area.about,
    `[All areas](${baseUrl}/docs.md) · [OpenAPI](${baseUrl}/openapi/${area.id}.json)`,
    ...area.operations.flatMap((operation) => operationParts(operation, baseUrl)),
    '## Schemas',
    ...Object.entries(area.schemas).flatMap(([name, schema]) => schemaParts(name, schema)),
  ])

function operationParts(operation: Operation, baseUrl: string): string[] {
  const { title, about, body, examples, answers, path, query } = operation
  const parameters = [...parameterLines(path, false), ...parameterLines(query, true)]
  const once = '`Idempotency-Key` (header, optional): a repeated request is charged once.'
  const refused = [...new Set([...refusalsOf(operation), ...anywhere])]
  return [
    `## ${title}`,
    `\`${methodOf(operation)} ${pathOf(operation)}\` · ${accessOf(operation)}`,
    about,
    bullets([...parameters, ...(operation.isIdempotent ? [once] : [])]),
    ...(body ? [`Body: ${typeOf(body.schema)}${body.isOptional ? ', or none' : ''}`] : []),
    ...examples
      .filter(({ status }) => status < 400)
      .flatMap((example) => [`${example.name}:`, code('sh', curlOf(operation, example, baseUrl))]),
    bullets(answers.map(answerLine)),
    `Refuses with ${refused.map((type) => `\`${type}\` (${refusals[type][0]})`).join(', ')}.`,
  ]
}

function answerLine({ status, about, content }: Answer): string {
  const bodies = Object.entries(content).map(([media, { schema, sample }]) =>
    sample === undefined ? typeOf(schema) : media,
  )
  return [`${status}:`, about, ...(bodies.length === 0 ? [] : [`(${bodies.join(', ')})`])].join(' ')
}

const parameterLines = (of: Schemas = {}, isOptional: boolean): string[] =>
  Object.entries(of).map(([name, schema]) =>
    fieldLine({
      name,
      type: typeOf(schema),
      about: String(schema['description'] ?? ''),
      isOptional,
    }),
  )

const schemaParts = (name: string, schema: Schema): string[] => [
  `### ${name}`,
  String(schema['description'] ?? ''),
  bullets(fieldsOf(schema).map(fieldLine)),
  code('json', JSON.stringify(sampleOf(schema, schemas), null, 2)),
]

const fieldLine = ({ name, type, about, isOptional }: Omit<Field, 'refersTo'>): string =>
  `\`${name}\` (${type}${isOptional ? ', optional' : ''})${about === '' ? '' : `: ${about}`}`

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')

const code = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

/** Parts with an empty line between them. */
const document = (parts: readonly string[]): string =>
  `${parts.filter((part) => part !== '').join('\n\n')}\n`
