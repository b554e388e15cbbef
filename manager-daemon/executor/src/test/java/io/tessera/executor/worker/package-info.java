/** Tests of {@link io.tessera.executor.worker}. */
package io.tessera.executor.worker;
