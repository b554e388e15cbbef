/** Each policy against its formula. */
package io.tessera.policy;
