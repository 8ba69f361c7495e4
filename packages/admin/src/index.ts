export { DEFAULT_ADMIN_CONFIG, type AdminConfig } from './config-shape.js';
export type { AdminDependencies, SchemaDocument } from './context.js';
export { Admin } from './service.js';
