/** Tests of what tenants may have in the executor. */
package io.tessera.executor.quota;
