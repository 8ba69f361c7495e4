import { describe, expect, it } from '@jest/globals';
import { counter, gauge, histogram, observedGauge, tracer, upDownCounter } from './meter.js';

describe('meter', () => {
  it('gives instruments that work without an SDK', () => {
    const options = { description: 'for this test' };
    counter('engine_test_calls_total', options).add(1);
    upDownCounter('engine_test_calls_open', options).add(-1);
    histogram('engine_test_latency_ms', options).record(3);
    gauge('engine_test_queue_length', options).record(2);
    observedGauge('engine_test_heap_bytes', options, () => 1);
    tracer().startSpan('test.run').end();
  });

  it('refuses a name without room and noun', () => {
    expect(() => counter('requests', { description: '' })).toThrow('engine_<room>_<noun>_<unit>');
  });
});
