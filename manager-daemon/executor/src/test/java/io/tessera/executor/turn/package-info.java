/** Tests of turns of tenants in one context. */
package io.tessera.executor.turn;
