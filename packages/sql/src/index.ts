export type { QueryService } from './query-service.js';
export { SqlEngine, type SqlEngineDependencies, type SqlEngineOptions } from './sql-engine.js';
export {
  defineColumns,
  type Cell,
  type Column,
  type ColumnType,
  type Row,
  type ScanRequest,
  type TableDefinition,
  type TableProvider,
} from './table.js';
export { EngineTables, type EngineTablesDependencies } from './tables/engine-tables.js';
