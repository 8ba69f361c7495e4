/** What a node shows, and asks to see, when it connects to another one. */

import { checkServerIdentity, type PeerCertificate } from 'node:tls';

import { credentials, type ChannelCredentials } from '@grpc/grpc-js';

import { isAllowedSubject } from '../subject-names.js';
import type { TlsFiles, TlsMaterial } from '../tls-files.js';

/** `tls` undefined: plain text. The files are looked at again with each connection, when they are due. */
export function channelCredentials(tls: TlsFiles | undefined): () => ChannelCredentials {
  const plain = credentials.createInsecure();
  if (tls === undefined || tls.options.mode === 'off' || tls.options.mode === 'allow') {
    return () => plain;
  }
  let made: { readonly of: TlsMaterial; readonly credentials: ChannelCredentials } | undefined;
  return () => {
    const material = tls.current();
    if (made?.of !== material) made = { of: material, credentials: secure(material, tls) };
    return made.credentials;
  };
}

function secure({ ca, key, cert }: TlsMaterial, { options }: TlsFiles): ChannelCredentials {
  const { allowedSubjectNames } = options;
  return credentials.createSsl(ca ?? null, key, cert, {
    checkServerIdentity: (host: string, certificate: PeerCertificate): Error | undefined => {
      if (allowedSubjectNames.length === 0) return checkServerIdentity(host, certificate);
      if (isAllowedSubject(certificate, allowedSubjectNames)) return undefined;
      return new Error(`the certificate of ${host} has none of the allowed subject names`);
    },
  });
}
