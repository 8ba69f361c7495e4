/** Values of a result as JSON text: every digit of a number kept, times as RFC 3339, durations as ISO 8601. */

import {
  DuckDBTypeId,
  type DuckDBArrayValue,
  type DuckDBDecimalValue,
  type DuckDBIntervalValue,
  type DuckDBListValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { QueryFailure } from './query-failure.js';

/** Encodes one value that is not null. */
export type JsonEncoder = (value: DuckDBValue) => string;

const MICROS_PER_SECOND = 1_000_000n;
const MICROS_PER_MS = 1_000n;
const MICROS_PER_DAY = 86_400n * MICROS_PER_SECOND;

/** The encoder for a column of this type. Throws QueryFailure for types that have no JSON form. */
export function encoderFor(type: DuckDBType): JsonEncoder {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.SQLNULL:
      return (value) => String(value);
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
      return (value) => floatText(Number(value));
    case DuckDBTypeId.DECIMAL:
      return (value) => floatText((value as DuckDBDecimalValue).toDouble());
    case DuckDBTypeId.BLOB:
      return (value) => `"${hexText(value)}"`;
    case DuckDBTypeId.TIMESTAMP_TZ:
      return (value) => `"${timestampText(microsOf(value))}Z"`;
    case DuckDBTypeId.TIMESTAMP:
      return (value) => `"${timestampText(microsOf(value))}"`;
    case DuckDBTypeId.INTERVAL:
      return (value) => JSON.stringify(intervalText(value as DuckDBIntervalValue));
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return listEncoder(encoderFor((type as { readonly valueType: DuckDBType }).valueType));
    case DuckDBTypeId.VARCHAR:
    case DuckDBTypeId.ENUM:
    case DuckDBTypeId.UUID:
    case DuckDBTypeId.DATE:
    case DuckDBTypeId.TIME:
      return (value) => JSON.stringify(String(value));
    default:
      throw new QueryFailure('failed', `a result of type ${type.toString()} has no JSON form`);
  }
}

function listEncoder(item: JsonEncoder): JsonEncoder {
  return (value) => {
    const { items } = value as DuckDBListValue | DuckDBArrayValue;
    return `[${items.map((each) => (each === null ? 'null' : item(each))).join(',')}]`;
  };
}

/** Shortest decimal that is read back as the same number, always with a fraction; `null` for what JSON can't name. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const text = String(value);
  const [mantissa = '', exponent] = text.split('e');
  const whole = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
  return exponent === undefined ? whole : `${whole}e${exponent.replace('+', '')}`;
}

/** `2026-11-20T20:18:58` with three fraction digits, six where the value has them, none when the fraction is zero. */
export function timestampText(micros: bigint): string {
  const belowMs = ((micros % MICROS_PER_MS) + MICROS_PER_MS) % MICROS_PER_MS;
  const date = new Date(Number((micros - belowMs) / MICROS_PER_MS));
  if (Number.isNaN(date.getTime())) throw new QueryFailure('failed', 'timestamp out of range');
  const text = date.toISOString().slice(0, -1);
  if (belowMs > 0n) return text + String(belowMs).padStart(3, '0');
  return text.endsWith('.000') ? text.slice(0, -4) : text;
}

/** `PT86400S`, `PT0.003S`, `P0D`. Only intervals with months, which have no fixed length, are printed in words. */
export function intervalText(interval: DuckDBIntervalValue): string {
  if (interval.months !== 0) return interval.toString();
  const micros = BigInt(interval.days) * MICROS_PER_DAY + interval.micros;
  if (micros === 0n) return 'P0D';
  const sign = micros < 0n ? '-' : '';
  const size = micros < 0n ? -micros : micros;
  const fraction = String(size % MICROS_PER_SECOND)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const seconds = String(size / MICROS_PER_SECOND);
  return `${sign}PT${seconds}${fraction === '' ? '' : `.${fraction}`}S`;
}

function microsOf(value: DuckDBValue): bigint {
  return (value as { readonly micros: bigint }).micros;
}

function hexText(value: DuckDBValue): string {
  const { bytes } = value as { readonly bytes: Uint8Array };
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
