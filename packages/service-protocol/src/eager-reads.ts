/** What a handler read of the state that came with its start. Only people look at it: replay takes the bytes as they are. */
import { decodeUtf8 } from '@engine/stdx';
import { GetEagerStateCommand, GetEagerStateKeysCommand } from './gen/service-protocol/messages.js';

/** Key and value of a stored `get-eager-state`; a value that is undefined was not there. Throws on undecodable bytes. */
export function readEagerState(raw: Uint8Array): {
  readonly key: string;
  readonly value: Uint8Array | undefined;
} {
  const { key, result } = GetEagerStateCommand.decode(raw);
  const value = result?.$case === 'value' ? result.value.content : undefined;
  return { key: decodeUtf8(key), value };
}

/** Keys in a stored `get-eager-state-keys`. Throws on undecodable bytes. */
export function readEagerStateKeys(raw: Uint8Array): string[] {
  const { value } = GetEagerStateKeysCommand.decode(raw);
  return value?.keys.map((key) => decodeUtf8(key)) ?? [];
}
