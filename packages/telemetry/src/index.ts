export {
  levelOf,
  LOG_LEVELS,
  parseLogFilter,
  type LogFilter,
  type LogLevel,
} from './log-filter.js';
export {
  configureLogging,
  createLogger,
  type LogFormat,
  type Logger,
  type LogMethod,
  type LogOptions,
  type LogSink,
} from './logger.js';
export {
  counter,
  gauge,
  histogram,
  observedGauge,
  tracer,
  upDownCounter,
  type InstrumentOptions,
} from './meter.js';
