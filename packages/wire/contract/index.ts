/** Arbitrary rows, requests and answers for property tests (fast-check). */

export {
  arbitraryAck,
  arbitraryAnswer,
  arbitraryBatch,
  arbitraryInboxEntry,
  arbitraryInvocation,
  arbitraryInvocationId,
  arbitraryJournalEntry,
  arbitraryJournalSnapshot,
  arbitraryMessage,
  arbitraryNotificationId,
  arbitraryObjectLock,
  arbitraryPromise,
  arbitraryRequest,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from './arbitraries.js';
