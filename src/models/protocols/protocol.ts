/** The protocols in which models are asked: by agents at our doors, and by us at model servers. */

/** Chat Completions, Anthropic's Messages, OpenAI's Responses. */
export type Protocol = 'chat' | 'messages' | 'responses'
