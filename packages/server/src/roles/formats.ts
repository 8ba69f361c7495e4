/** What this binary reads and writes of a cluster: records, rows, commands between roles, documents. */

import type { FormatRange } from '@engine/domain';

export const STORE_FORMATS: FormatRange = { min: 1, max: 1 };
