/** What is wrong with bytes that a deployment sent. A value, not an error: hostile bytes are an expected outcome. */

export interface ProtocolFault {
  readonly kind: 'fault';
  /** RT0003 message too large, RT0012 protocol violation, RT0025 await tree too deep. */
  readonly code: 'RT0003' | 'RT0012' | 'RT0025';
  readonly message: string;
}

/** A violation of the protocol (RT0012). */
export function violation(message: string): ProtocolFault {
  return { kind: 'fault', code: 'RT0012', message };
}

/** A message that decodes but breaks a rule: thrown by decoders, caught by `decodeHandlerMessage`. Never leaves this package. */
export class MessageFault extends Error {}
