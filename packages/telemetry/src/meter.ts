import {
  metrics,
  trace,
  type Counter,
  type Gauge,
  type Histogram,
  type ObservableGauge,
  type Tracer,
  type UpDownCounter,
} from '@opentelemetry/api';
import { assert } from '@engine/stdx';

/** What an instrument measures. Names are `engine_<room>_<noun>_<unit>`; labels take few values, never an id or a key. */
export interface InstrumentOptions {
  readonly description: string;
  /** UCUM, such as `ms`, `By`, `{invocation}`. */
  readonly unit?: string;
}

const NAME = /^engine(_[a-z0-9]+){2,}$/;

export function counter(name: string, options: InstrumentOptions): Counter {
  return meter().createCounter(checked(name), options);
}

export function upDownCounter(name: string, options: InstrumentOptions): UpDownCounter {
  return meter().createUpDownCounter(checked(name), options);
}

export function histogram(name: string, options: InstrumentOptions): Histogram {
  return meter().createHistogram(checked(name), options);
}

export function gauge(name: string, options: InstrumentOptions): Gauge {
  return meter().createGauge(checked(name), options);
}

/** `read` is asked at each export and costs nothing in between. */
export function observedGauge(
  name: string,
  options: InstrumentOptions,
  read: () => number,
): ObservableGauge {
  const instrument = meter().createObservableGauge(checked(name), options);
  instrument.addCallback((result) => {
    result.observe(read());
  });
  return instrument;
}

/** Spans are `<room>.<verb>`. Without an SDK registered before the program is loaded, they cost next to nothing. */
export function tracer(): Tracer {
  return trace.getTracer('engine');
}

function meter(): ReturnType<typeof metrics.getMeter> {
  return metrics.getMeter('engine');
}

function checked(name: string): string {
  assert(NAME.test(name), `metric name ${name} is not engine_<room>_<noun>_<unit>`);
  return name;
}
