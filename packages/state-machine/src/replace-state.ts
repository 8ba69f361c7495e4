/** The state of a key, replaced as a whole. */

import type { StateEntry, StateReplacement } from '@engine/domain';
import { EMPTY_BYTES } from '@engine/stdx';

import type { Draft } from './draft.js';
import { stateVersion } from './state-version.js';

/** Writes a whole new state, unless another version was meant: then nothing changes and nobody is told (SPEC STA-2). */
export function replaceState(
  draft: Draft,
  { service, key }: { readonly service: string; readonly key: string },
  replacement: StateReplacement,
): void {
  const known = draft.stateDirectory(service, key)?.entries ?? [];
  if (replacement.expectedVersion !== undefined) {
    const version = stateVersion(
      known.map((entry) => storedEntry(draft, { service, key, stateKey: entry.key })),
      draft.context.sha256,
    );
    if (version !== replacement.expectedVersion) return;
  }
  const values = new Map(replacement.entries.map((entry) => [entry.key, entry.value]));
  for (const { key: stateKey } of known) {
    if (!values.has(stateKey)) draft.putState({ service, key, stateKey }, undefined);
  }
  for (const [stateKey, value] of values) draft.putState({ service, key, stateKey }, value);
  const entries = [...values]
    .map(([stateKey, value]) => ({ key: stateKey, sizeBytes: value.byteLength }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  if (known.length === 0 && entries.length === 0) return;
  draft.putStateDirectory(service, key, entries.length === 0 ? undefined : { entries });
}

function storedEntry(
  draft: Draft,
  place: { readonly service: string; readonly key: string; readonly stateKey: string },
): StateEntry {
  const value = draft.state(place.service, place.key, place.stateKey) ?? EMPTY_BYTES;
  return { key: place.stateKey, value };
}
