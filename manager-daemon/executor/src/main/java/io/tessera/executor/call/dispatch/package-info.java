/** CALL records from the ring to the driver: {@link io.tessera.executor.call.dispatch.CallExecutor} makes each by the row of its call. */
package io.tessera.executor.call.dispatch;
