export { DEFAULT_INGRESS_CONFIG, type IngressConfig } from './config-shape.js';
export type { IngressDependencies } from './context.js';
export { Ingress } from './service.js';
