/* SPDX-License-Identifier: Apache-2.0 */
/* As tools/render/viewer/assemble has put them together: the page without its data, and what
   makes a picture interactive. */
	.section .rodata
	.globl viewer_page
	.globl viewer_page_end
	.globl viewer_svg
	.globl viewer_svg_end
viewer_page:
	.incbin "viewer.page.html"
viewer_page_end:
	.byte 0
viewer_svg:
	.incbin "viewer.svg.xml"
viewer_svg_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
