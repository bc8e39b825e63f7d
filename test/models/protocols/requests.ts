/** Requests of each door, with every text of its own and with members that a translation can lose. */
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'

/** Stands for a text that is found again. */
const mark = fc.constant('§')
const some = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: 1, maxLength: 3 })
const png = 'iVBORw0KGgo='

/** Members that a protocol may or may not have a place for. */
const extra = fc.oneof(
  { weight: 3, arbitrary: fc.constant<JsonObject>({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom('cache_control', 'citations', 'context', 'title', 'name', 'x_new', 'detail'),
      fc.oneof(mark, fc.constant<Json>({ type: 'ephemeral', ttl: '§' })),
      { maxKeys: 2 },
    ),
  },
)

type Member = fc.Arbitrary<Json>

/** An object of these members, the ones named `maybe` not always, and more. */
const thing = (members: Record<string, Member>, maybe: Record<string, Member> = {}) =>
  fc
    .tuple(fc.record({ ...members, ...maybe }, { requiredKeys: Object.keys(members) }), extra)
    .map(([own, more]) => ({ ...more, ...own }) as JsonObject)

const is = (value: Json): Member => fc.constant(value)
/** Seldom set: some protocols refuse the request for it. */
const seldom = (value: Json): Member =>
  fc.oneof({ weight: 5, arbitrary: is(null) }, { weight: 1, arbitrary: is(value) })
const schema = is({ type: 'object', properties: { at: { description: '§' } } })

const top: Record<string, Member> = {
  temperature: is(0.5),
  top_p: is(0.25),
  unheard_of: mark,
  prompt_cache_key: mark,
  service_tier: is('auto'),
  top_k: mark,
}

const chatPart = fc.oneof(
  thing({ type: is('text'), text: mark }),
  thing({ type: is('image_url'), image_url: is({ url: `data:image/png;base64,${png}` }) }),
)
const chatCall = thing({
  id: is('call_1'),
  type: is('function'),
  function: is({ name: '§', arguments: '{"a":"§"}' }),
})
const chatMessage = fc.oneof(
  thing({ role: is('user'), content: mark }),
  thing({ role: is('user'), content: some(chatPart) }),
  thing({ role: is('system'), content: mark }),
  thing(
    { role: is('assistant'), content: mark },
    { tool_calls: some(chatCall), reasoning_content: mark, refusal: mark },
  ),
  thing({
    role: is('tool'),
    tool_call_id: is('call_1'),
    content: some(thing({ type: is('text'), text: mark })),
  }),
)
const chatTool = thing({
  type: is('function'),
  function: thing({ name: mark }, { description: mark, parameters: schema, strict: is(true) }),
})

const chat = thing(
  { model: is('m'), messages: some(chatMessage) },
  {
    ...top,
    tools: some(chatTool),
    tool_choice: fc.oneof(is('auto'), is({ type: 'function', function: { name: '§' } })),
    stop: seldom(['§']),
    user: mark,
    seed: mark,
    reasoning_effort: mark,
    verbosity: mark,
    functions: seldom([{ name: '§' }]),
    response_format: thing({
      type: is('json_schema'),
      json_schema: thing({ name: mark, schema }, { description: mark }),
    }),
  },
)

const source = thing({ type: is('base64'), media_type: is('image/png'), data: is(png) })
const text = thing({ type: is('text'), text: mark })
const image = thing({ type: is('image'), source })
const block = fc.oneof(
  text,
  image,
  thing(
    { type: is('document'), source: thing({ type: is('text'), data: mark }) },
    { title: mark, context: mark, citations: is({ enabled: true, note: '§' }) },
  ),
  thing(
    { type: is('tool_result'), tool_use_id: is('call_1') },
    { content: fc.oneof(mark, some(fc.oneof(text, image))), is_error: is(true) },
  ),
)
const said = fc.oneof(
  text,
  thing({ type: is('thinking'), thinking: mark, signature: mark }),
  thing({ type: is('redacted_thinking'), data: mark }),
  thing({ type: is('tool_use'), id: is('call_1'), name: mark, input: is({ a: '§' }) }),
)

const messages = thing(
  {
    model: is('m'),
    max_tokens: is(50),
    messages: some(
      fc.oneof(
        thing({ role: is('user'), content: mark }),
        thing({ role: is('user'), content: some(block) }),
        thing({ role: is('assistant'), content: some(said) }),
      ),
    ),
  },
  {
    ...top,
    system: fc.oneof(mark, some(text)),
    tools: some(thing({ name: mark }, { description: mark, input_schema: schema })),
    tool_choice: thing({ type: is('tool'), name: mark }),
    stop_sequences: seldom(['§']),
    metadata: thing({ user_id: mark }),
    thinking: is({ type: 'enabled', budget_tokens: 20, display: '§' }),
    output_config: thing({}, { effort: mark, format: thing({ type: is('json_schema'), schema }) }),
    context_management: is({ edits: [{ type: 'clear_tool_uses', x: '§' }] }),
    container: seldom('§'),
  },
)

const inputPart = fc.oneof(
  thing({ type: is('input_text'), text: mark }),
  thing({ type: is('input_image'), image_url: is(`data:image/png;base64,${png}`) }),
)
const item = fc.oneof(
  thing({ type: is('message'), role: is('user'), content: mark }),
  thing({ type: is('message'), role: is('user'), content: some(inputPart) }),
  thing({
    type: is('message'),
    role: is('assistant'),
    content: some(thing({ type: is('output_text'), text: mark }, { annotations: is(['§']) })),
  }),
  thing({ type: is('function_call'), call_id: is('call_1'), name: mark, arguments: mark }),
  thing({
    type: is('function_call_output'),
    call_id: is('call_1'),
    output: fc.oneof(mark, some(inputPart)),
  }),
  thing({ type: is('custom_tool_call'), call_id: is('call_2'), name: mark, input: mark }),
  thing({ type: is('custom_tool_call_output'), call_id: is('call_2'), output: mark }),
  thing({ type: is('reasoning'), encrypted_content: mark, summary: is([{ text: '§' }]) }),
)
const responses = thing(
  { model: is('m'), input: fc.oneof(mark, some(item)) },
  {
    ...top,
    instructions: mark,
    max_output_tokens: is(50),
    tools: some(
      fc.oneof(
        thing({ type: is('function'), name: mark }, { description: mark, parameters: schema }),
        thing({ type: is('custom'), name: mark }, { format: is({ type: 'text', x: '§' }) }),
        thing({ type: is('web_search'), filters: mark }),
      ),
    ),
    tool_choice: thing({ type: is('function'), name: mark }),
    parallel_tool_calls: is(true),
    text: thing(
      {},
      { verbosity: mark, format: thing({ type: is('json_schema'), name: mark, schema }) },
    ),
    reasoning: thing({}, { effort: mark, summary: mark }),
    include: is(['§']),
    safety_identifier: mark,
    user: mark,
    previous_response_id: seldom('§'),
  },
)

/** Numbers the marks of a request, so that each is found by itself. */
function numbered(request: JsonObject): JsonObject {
  let count = 0
  return JSON.parse(JSON.stringify(request).replace(/§/g, () => `mark${count++}z`))
}

export const requests = {
  chat: chat.map(numbered),
  messages: messages.map(numbered),
  responses: responses.map(numbered),
} as const
