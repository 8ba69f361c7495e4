/** Content types in manifests: what an input rule may say and what an output header may hold. */

/** True for any type (`*` twice), `type/*` and `type/subtype`; parameters do not count. */
export function isContentTypeRule(text: string): boolean {
  const [essence = ''] = text.split(';');
  const [type, subtype, ...rest] = essence.trim().split('/');
  if (type === undefined || subtype === undefined || rest.length > 0) return false;
  if (type === '' || subtype === '') return false;
  return type !== '*' || subtype === '*';
}

/** True if `text` can stand in a header: visible ASCII, blanks, tabs and bytes above ASCII. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
