/** Space sharing: programs without a context, which an executor serves. */
package io.tessera.system.space;
