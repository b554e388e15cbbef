/**
 * Scheduling policies: they decide which tenant uses a device next, and for how long. One policy per file behind {@link
 * io.tessera.policy.SchedulingPolicy}. No clock, no thread: time is an argument of each call.
 */
package io.tessera.policy;
