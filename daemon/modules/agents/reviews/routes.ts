import { agentReviews } from '../../../../src/api/agents/reviews.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { ReviewService } from './service.ts';
import { outcomeText, reviewToWire, statusMeant } from './wire.ts';

/** The operations on reviews. */
export function reviewRoutes(service: ReviewService): Route[] {
  return implement(agentReviews, {
    ListReviews: ({ caller, query: { sessionId, status, ...page } }) => {
      const filter = { sessionId, status: statusMeant(status), ...pageOf(page) };
      const { rows, total } = service.list(caller.tenant, filter);
      return { reviews: rows.map(reviewToWire), total };
    },
    GetReview: ({ caller, params }) => ({
      review: reviewToWire(service.get(caller.tenant, params.reviewId)),
    }),
    SubmitReview: ({ caller, params, body }) => {
      const submitted = service.submit(caller, params.reviewId, body);
      return { accepted: true, message: outcomeText(submitted), review: reviewToWire(submitted.review) };
    },
  });
}
