/** Presets of servers that run on the operator's own machines, and of another Counterfoil. */
import type { Provider } from './provider.ts'

const counterfoilFields = {
  input_pusd: 'input_pusd',
  cache_read_pusd: 'cache_read_pusd',
  cache_write_pusd: 'cache_write_pusd',
  cache_write_1h_pusd: 'cache_write_1h_pusd',
  audio_input_pusd: 'audio_input_pusd',
  image_input_pusd: 'image_input_pusd',
  output_pusd: 'output_pusd',
  reasoning_pusd: 'reasoning_pusd',
  audio_output_pusd: 'audio_output_pusd',
  image_output_pusd: 'image_output_pusd',
} as const

const own = { auth: 'none', isLocal: true, dialect: { limit: 'max_tokens' } } as const

export const local: readonly Provider[] = [
  { ...own, id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { ...own, id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
  { ...own, id: 'lmstudio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { ...own, id: 'llamacpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { ...own, id: 'sglang', name: 'SGLang', baseUrl: 'http://127.0.0.1:30000/v1' },
  { ...own, id: 'localai', name: 'LocalAI', baseUrl: 'http://127.0.0.1:8080/v1' },
  { ...own, id: 'tgi', name: 'Text Generation Inference', baseUrl: 'http://127.0.0.1:3000/v1' },
  {
    id: 'counterfoil',
    name: 'Another Counterfoil',
    baseUrl: 'https://{host}/v1',
    keyEnv: ['COUNTERFOIL_KEY'],
    keyUrl: 'https://{host}/v1/keys/self',
    listPrices: { at: ['prices'], unit: 'pusd', fields: counterfoilFields },
  },
]
