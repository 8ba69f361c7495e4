import { createLogger } from '@engine/telemetry';

export const clientLogger = createLogger('rpc:client');
export const serverLogger = createLogger('rpc:server');
export const routerLogger = createLogger('rpc:router');
export const grpcLogger = createLogger('rpc:grpc');
