/** Which methods of which CUDA libraries are instrumented, and with what. */
package io.tessera.agent.instrument;
