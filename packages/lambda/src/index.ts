export type { FunctionInvoker, FunctionRequest, FunctionResponse } from './function-invoker.js';
export { LambdaInvoker, type LambdaOptions } from './lambda-invoker.js';
export { COMPRESSION_THRESHOLD_BYTES, REQUEST_BODY_BYTES_MAX } from './limits.js';
