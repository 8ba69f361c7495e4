/** Which certificates are welcome: by their common name and their alternative names. */

import type { PeerCertificate } from 'node:tls';

/** True when one of the certificate's names fits one of the patterns. In a pattern `*` stands for one or more characters. */
export function isAllowedSubject(
  certificate: Pick<PeerCertificate, 'subject' | 'subjectaltname'>,
  patterns: readonly string[],
): boolean {
  const names = namesOf(certificate);
  return patterns.some((pattern) => {
    const expression = new RegExp(`^${pattern.split('*').map(escaped).join('.+')}$`, 'i');
    return names.some((name) => expression.test(name));
  });
}

function namesOf({
  subject,
  subjectaltname,
}: Pick<PeerCertificate, 'subject' | 'subjectaltname'>): string[] {
  // A certificate may have several common names, or, without any subject, none.
  const common: unknown = (subject as { readonly CN?: unknown } | undefined)?.CN;
  const commonNames = (Array.isArray(common) ? common : [common]).filter(
    (name): name is string => typeof name === 'string',
  );
  const alternatives = (subjectaltname ?? '')
    .split(', ')
    .map((entry) => entry.replace(/^(?:DNS|IP Address|URI):/, ''))
    .filter((name) => name !== '');
  return [...commonNames, ...alternatives];
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
