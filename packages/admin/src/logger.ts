import { createLogger } from '@engine/telemetry';

export const log = createLogger('admin:http');
