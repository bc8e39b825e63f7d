import { expect, test } from 'bun:test'
import { StopSwitch } from '../../src/kernel/stop.ts'

test('every listener hears of it once, in the order they came, and then none is kept', () => {
  const signal = new StopSwitch()
  const heard: string[] = []
  signal.addEventListener('abort', () => heard.push(`a ${signal.aborted}`))
  signal.addEventListener('abort', () => heard.push('b'), { once: true })
  signal.addEventListener('abort', { handleEvent: () => void heard.push('c') })
  expect(signal.aborted).toBe(false)
  signal.stop()
  signal.stop()
  expect(heard).toEqual(['a true', 'b', 'c'])
})

test('who stopped listening hears nothing, also when another listener says so', () => {
  const signal = new StopSwitch()
  const heard: string[] = []
  const b = () => void heard.push('b')
  const c = () => void heard.push('c')
  signal.addEventListener('abort', () => {
    heard.push('a')
    signal.removeEventListener('abort', c)
  })
  signal.addEventListener('abort', b)
  signal.addEventListener('abort', c)
  signal.removeEventListener('abort', b)
  signal.stop()
  expect(heard).toEqual(['a'])
})
