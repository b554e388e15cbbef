package io.tessera.guardian.verify.module;

import java.nio.charset.StandardCharsets;

/** Gives kernels that a test writes by hand what every fenced kernel begins with. */
final class GridLooks {
    private static final String WINDOW = ".visible .const .align 16 .b64 __tessera_window[8];\n";
    private static final String HEAD_END = ".address_size 64\n";
    private static final String BEGIN = """

            .reg .pred %__tessera_grid_p<1>; .reg .b32 %__tessera_grid_r<2>; .reg .b64 %__tessera_grid_d<1>;
            mov.u32 %__tessera_grid_r0, %nctaid.y;
            mov.u32 %__tessera_grid_r1, %nctaid.z;
            mul.lo.u32 %__tessera_grid_r0, %__tessera_grid_r0, %__tessera_grid_r1;
            mov.u32 %__tessera_grid_r1, %nctaid.x;
            mul.wide.u32 %__tessera_grid_d0, %__tessera_grid_r0, %__tessera_grid_r1;
            setp.gt.u64 %__tessera_grid_p0, %__tessera_grid_d0, 64;
            ld.const.u64 %__tessera_grid_d0, [__tessera_window+40];
            @%__tessera_grid_p0 ld.volatile.global.u32 %__tessera_grid_r0, [%__tessera_grid_d0];
            @%__tessera_grid_p0 setp.lt.s32 %__tessera_grid_p0, %__tessera_grid_r0, 1;
            @%__tessera_grid_p0 exit;
            """;

    private GridLooks() {
    }

    /** A text whose kernels look; those that the rewriter has made stay as they are. */
    static String added(String text) {
        StringBuilder all = new StringBuilder(text);
        for (int at = all.lastIndexOf(".entry"); at >= 0; at = all.lastIndexOf(".entry", at - 1)) {
            int body = all.indexOf("{", at) + 1;
            int next = all.indexOf(".entry", at + 1);
            if (body > 0 && !all.substring(body, next < 0 ? all.length() : next).contains("%__tessera_grid")) {
                all.insert(body, BEGIN);
            }
        }
        int head = all.indexOf(HEAD_END);
        if (head >= 0 && !text.contains(" __tessera_window[8]")) {
            all.insert(head + HEAD_END.length(), WINDOW);
        }
        return all.toString();
    }

    /** As above, for a verifier. */
    static byte[] bytes(String text) {
        return added(text).getBytes(StandardCharsets.UTF_8);
    }
}
