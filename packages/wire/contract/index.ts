/** Arbitrary rows, requests and answers for property tests (fast-check). */

export {
  arbitraryAck,
  arbitraryAnswer,
  arbitraryApplied,
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
  arbitraryReports,
  arbitraryRequest,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from './arbitraries.js';
